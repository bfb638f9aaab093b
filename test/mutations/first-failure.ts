/** A failed example is enough: fast-check need not look for the smallest one. */
import fc from 'fast-check';

fc.configureGlobal({ endOnFailure: true });
