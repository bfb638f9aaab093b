import { expect, test } from 'vitest';
import { readingError } from '../../../catalog/opm/reading-error.ts';

const said = (text: string): string | undefined => readingError(new TextEncoder().encode(text));
const wrapped = 'error unmarshaling JSON: while decoding JSON: ';
const root = 'into Go value of type map[string]interface {} at offset';

// Each as opm v1.73.0 printed it with `validate -o json`.
test.each([
  ['schema: x\n', undefined],
  ['{"schema":"x"}{"schema":"y"}', undefined],
  ['', undefined],
  ['a: [\n', 'error converting YAML to JSON: yaml: line 1: did not find expected node content'],
  ['---\na: [\n', 'error converting YAML to JSON: yaml: line 2: did not find expected node content'],
  [
    'schema: x\n---\na: b: c\n',
    'error converting YAML to JSON: yaml: mapping values are not allowed in this context',
  ],
  ['schema: x\n--- y\n', 'invalid Yaml document separator: y'],
  ['null\n', "object '' is missing root schema field"],
  ['a: <b>\n', 'object \'{"a":"<b>"}\n\' is missing root schema field'],
  ['text', `${wrapped}json: cannot unmarshal string ${root} 6 (indicated by <==)\n"text" <==`],
  ['[]', `${wrapped}json: cannot unmarshal array ${root} 1 (indicated by <==)\n[ <== ]`],
  ['- a', `${wrapped}json: cannot unmarshal array ${root} 1 (indicated by <==)\n[ <== \n    "a"\n]`],
  ['true', `${wrapped}json: cannot unmarshal bool ${root} 4 (indicated by <==)\ntrue <==`],
  ['name: 4.12', `${wrapped}expected value for key "name" to be a string, got %!t(float64=4.12): 4.12`],
  ['{"name": null}', 'expected value for key "name" to be a string, got %!t(<nil>): <nil>'],
  [
    '{"name": [{"a": null, "b": true}]}',
    'expected value for key "name" to be a string, got [map[%!t(string=a):<nil> %!t(string=b):true]]: [map[a:<nil> b:true]]',
  ],
  ['name: a\nName: b', `${wrapped}duplicate keys for key "name": [Name name]`],
  [
    'a: 1\nA: 1\nb: 1\nB: 1',
    `${wrapped}[duplicate keys for key "a": [A a], duplicate keys for key "b": [B b]]`,
  ],
  ['{"schema":"x"', 'unexpected EOF'],
  ['{"schema":"x"}\u00a0\n', "json: offset 15: invalid character 'Â' looking for beginning of value"],
  ['{"schema":"x"}\n#\n', "json: offset 16: invalid character '#' looking for beginning of value"],
  ['{"schema": x y: z}', "json: offset 12: invalid character 'x' looking for beginning of value"],
  ['{"schema":"x"}{"schema":"x"}{"é" 1}', "invalid character '1' after object key"],
  ['{"schema":"x"}\nnull', "object 'null\n' is missing root schema field"],
  [
    'schema: olm.channel\nentries: {}\nname: c\nproperties: 1\n',
    'parse channel: json: cannot unmarshal object into Go struct field Channel.entries of type []declcfg.ChannelEntry',
  ],
  // Keys are the same whatever their case, a long s is an s, and Go decodes them in byte order.
  ['ſchema: 1', `${wrapped}expected value for key "ſchema" to be a string, got %!t(float64=1): 1`],
  ['aẞ: 1\naß: 1\nass: 1', `${wrapped}duplicate keys for key "ass": [ass aß aẞ]`],
  ['ſchema: x\nschema: y', `${wrapped}duplicate keys for key "schema": [schema ſchema]`],
  [
    'schema: olm.package\nicon: 1\ndescription: 2',
    'parse package: json: cannot unmarshal number into Go struct field Package.description of type string',
  ],
  [
    `schema: olm.channel\nentries:\n- {}\n- {}\n- {skips: 1}\n${'- {}\n'.repeat(7)}- {name: 1}`,
    'parse channel: json: cannot unmarshal number into Go struct field ChannelEntry.entries.skips of type []string',
  ],
  [
    'schema: olm.bundle\npackage: p\nname: b\nproperties: [{type: olm.bundle.object, value: 1}]\n',
    'read bundle objects: package "p", bundle "b": parse property at index 0 as bundle object: json: cannot unmarshal number into Go value of type property.BundleObject',
  ],
  [
    'schema: olm.bundle\nproperties: [{type: olm.bundle.object, value: {data: YTogYjogYw==}}]\n',
    'read bundle objects: package "", bundle "": convert bundle object property at index 0 to JSON: yaml: mapping values are not allowed in this context',
  ],
])('of %j opm says %j', (text, message) => expect(said(text)).toBe(message));

test.each([
  [[0x61, 0x3a, 0x20, 0xff], 'yaml: invalid leading UTF-8 octet'],
  [[0x61, 0x3a, 0x20, 0xc3], 'yaml: invalid trailing UTF-8 octet'],
  [[0x61, 0x3a, 0x20, 0xc3, 0x20], 'yaml: invalid trailing UTF-8 octet'],
  [[0x61, 0x3a, 0x20, 0xc0, 0x80], 'yaml: invalid length of a UTF-8 sequence'],
  [[0x61, 0x3a, 0x20, 0xed, 0xa0, 0x80], 'yaml: invalid Unicode character'],
])('of the bytes %j opm says %s', (bytes, problem) => {
  expect(readingError(Uint8Array.from(bytes))).toBe(`error converting YAML to JSON: ${problem}`);
});
