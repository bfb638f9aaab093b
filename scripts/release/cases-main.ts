/** Writes the cases of the tests to a file, outside of a release. */
import { writeFileSync } from 'node:fs';
import { casesFile } from './cases.ts';

writeFileSync(process.argv[2] ?? casesFile.name, casesFile.text());
