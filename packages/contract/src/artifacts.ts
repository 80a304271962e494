import { type Static, Type } from 'typebox';
import { Timestamp } from './envelope.ts';

/** Outputs of plugins that are stored until they expire. Source: docs/contract.md "Artifacts". */
export const Artifact = Type.Object({
  object: Type.Literal('Artifact'),
  artifact_id: Type.String({
    description: 'Empty in the result of a run without a key, because the id always needs a key.',
  }),
  run_id: Type.String({ description: 'The run whose output it is.' }),
  file_name: Type.String(),
  media_type: Type.String({
    description: '`image/png`, `application/pdf`, …; `application/octet-stream` when unknown.',
  }),
  bytes: Type.Integer(),
  sha256: Type.String({ description: 'Hexadecimal.' }),
  file_url: Type.String({
    description: 'A signed URL of the bytes. It needs no key and is valid until `expires_timestamp`.',
  }),
  created_timestamp: Timestamp,
  expires_timestamp: Type.Integer({ description: 'Milliseconds. The artifact is deleted then.' }),
});
export type Artifact = Static<typeof Artifact>;

/** An artifact as part of the result of a run. */
export const OutputArtifact = Type.Object({
  ...Artifact.properties,
  path: Type.String({
    description:
      'JSON Pointer of the value in `data`; empty for the whole output. In a large output the value is `artifact:` and the id, or without a key the type and the size.',
  }),
});
export type OutputArtifact = Static<typeof OutputArtifact>;
