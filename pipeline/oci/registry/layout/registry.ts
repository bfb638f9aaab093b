/**
 * Layouts behind the `Registry` port. A reference's registry means nothing here; its repository
 * is one of the layout's, the empty one being the layout's own.
 */
import type { Reference } from '../../../../catalog/reference.ts';
import { PipelineError } from '../../../error.ts';
import type { Descriptor, Registry } from '../../../ports.ts';
import { checkedBytes } from '../../digest.ts';
import { type LayoutView, referrersIn } from './contents.ts';
import type { Layout } from './layout.ts';

/** A read-only registry over an image layout. Everything that writes throws `denied`. */
export function viewRegistry(view: LayoutView, name: string): Registry {
  const refuse = async (): Promise<never> => {
    throw new PipelineError('denied', `${name} is read-only`);
  };
  const resolve = async (reference: Reference): Promise<Descriptor | undefined> => {
    const { tags, manifests } = await view.contents(reference.repository);
    const digest = reference.kind === 'digest' ? reference.digest : tags.get(reference.tag)?.digest;
    return digest === undefined ? undefined : manifests.get(digest)?.descriptor;
  };
  return {
    resolve,
    getManifest: async (reference) => {
      const descriptor = await resolve(reference);
      return descriptor && view.manifest(descriptor);
    },
    getBlob: (_, blob) =>
      checkedBytes(view.blobs.read(blob.digest), blob, `the blob ${blob.digest} in ${name}`),
    hasBlob: async (_, digest, size) => {
      const found = await view.blobs.size(digest);
      if (found === undefined) return false;
      if (size === undefined || found === size) return true;
      throw new PipelineError('corrupt', `the blob ${digest} in ${name} has ${found} bytes, not ${size}`);
    },
    async *listTags({ repository }) {
      yield* [...(await view.contents(repository)).tags.keys()].sort();
    },
    listReferrers: async ({ repository }, digest, artifactType) => {
      const all: Descriptor[] = [];
      for await (const one of referrersIn(view, repository, { digest, artifactType })) all.push(one);
      return all;
    },
    putBlob: refuse,
    putManifest: refuse,
    deleteManifest: refuse,
  };
}

/** A layout that is read and written; blobs are one pool for all its repositories. */
export function layoutRegistry(layout: Layout): Registry {
  return {
    ...viewRegistry(layout, layout.directory),
    putBlob: async (_, blob) => {
      if ((await layout.blobs.size(blob.digest)) === blob.size) return 'present';
      await layout.blobs.write(blob.open(0), blob);
      return 'uploaded';
    },
    putManifest: async (to, manifest) => {
      if (to.kind === 'digest' && to.digest !== manifest.digest) {
        throw new PipelineError('corrupt', `cannot write the manifest ${manifest.digest} as ${to.digest}`);
      }
      await layout.add(to.repository, to.kind === 'tag' ? to.tag : undefined, manifest);
    },
    deleteManifest: (reference) =>
      reference.kind === 'tag'
        ? layout.removeTag(reference.repository, reference.tag)
        : layout.removeManifest(reference.repository, reference.digest),
  };
}
