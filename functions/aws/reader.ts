/** The program that reads one pull request for `work`, in a process of its own. */
import { serveReader } from '../../pipeline/check/confined/reader.ts';

serveReader();
