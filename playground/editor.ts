/** The editor: a file with what was found on its lines. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { search, searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import type { Finding } from '../catalog/finding.ts';

interface Editor {
  readonly text: () => string;
  /** Shows another text, without a way back to the one before. */
  readonly open: (text: string) => void;
  readonly mark: (findings: readonly Finding[]) => void;
  readonly go: (line: number, column: number) => void;
}

/** Larger files have no colours: reading all of one takes longer than people wait. */
const MOST_COLOURED = 4_000_000;

/** @param changed is called when a person has edited the text */
export function openEditor(parent: HTMLElement, changed: () => void): Editor {
  const stateOf = (text: string): EditorState =>
    EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        search({ top: true }),
        bracketMatching(),
        highlightActiveLine(),
        ...(text.length > MOST_COLOURED ? [] : [yaml(), syntaxHighlighting(classHighlighter)]),
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ 'aria-label': 'Text of the file', tabindex: '0' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed();
        }),
      ],
    });
  const view = new EditorView({ parent, state: stateOf('') });
  return {
    text: () => view.state.doc.toString(),
    open: (text) => view.setState(stateOf(text)),
    mark: (findings) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          findings.map((finding) => diagnosticOf(view.state, finding)),
        ),
      ),
    go: (line, column) => {
      const at = placeOf(view.state, line, column);
      view.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: 'center' }),
      });
      view.focus();
    },
  };
}

function diagnosticOf(state: EditorState, { location, severity, rule, message, hint }: Finding): Diagnostic {
  const from = placeOf(state, location.line, location.column);
  const { to } = state.doc.lineAt(from);
  const fix = hint === undefined ? '' : `\nFix: ${hint}`;
  return { from, to: Math.max(from, to), severity, source: rule, message: `${message}${fix}` };
}

/** The text may be another than the one that was examined. */
function placeOf({ doc }: EditorState, line: number, column: number): number {
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(at.from + Math.max(0, column - 1), at.to);
}
