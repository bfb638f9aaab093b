/** What a catalog in another form than files of FBC must offer. */
import type { Loaded } from '../../catalog/fbc/load.ts';
import type { CatalogSource } from '../../catalog/source.ts';

export interface CatalogForm {
  /** What a file of this form is called, for messages. */
  readonly noun: string;
  /** The label by which an index image names its file. */
  readonly label: string;
  /** Whether a file has the form, by its first bytes. @throws PipelineError `not-found` or `io` */
  isFile(path: string): boolean;
  /**
   * The ending of a file beside one of this form that has changes of it, which reading the one would leave out.
   *
   * @param headOf first 16 bytes of the file with the name of the one and an ending; none where that does not exist
   */
  changesBeside(headOf: (ending: string) => Uint8Array): string | undefined;
  /**
   * The catalog of a file, as opm renders it. What opm refuses is refused, with what is wrong.
   *
   * @param name what the file is called, for messages
   * @throws PipelineError `corrupt`, `too-large`, `usage` where what reads it is not installed
   */
  load(bytes: Uint8Array, name: string): Promise<Loaded>;
  /** The catalog of a file as files of FBC. @throws PipelineError as `load`; `corrupt` for a catalog that opm refuses, too */
  source(bytes: Uint8Array, name: string): Promise<CatalogSource>;
}
