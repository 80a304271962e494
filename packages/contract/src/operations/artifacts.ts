import { Type } from 'typebox';
import { Artifact } from '../artifacts.ts';
import { Acknowledgement, Success } from '../envelope.ts';
import { describeOperations } from './operation.ts';

const ArtifactParams = Type.Object({ artifact_id: Type.String({ maxLength: 256, description: 'Id.' }) });
const Signature = Type.Object({
  project: Type.String({ maxLength: 64, description: 'The project of the artifact.' }),
  expires: Type.String({
    maxLength: 15,
    pattern: '^[0-9]{1,15}$',
    description: 'The end of the validity, in milliseconds.',
  }),
  signature: Type.String({ maxLength: 128, description: 'The signature of the service.' }),
});

export const artifactOperations = describeOperations('artifacts', {
  getArtifact: {
    summary: 'Get an artifact',
    description:
      'An output of a plugin that is stored: a picture, a document, or a large output. `file_url` is a signed URL of its bytes. Always needs a key.',
    scope: 'plugins:read',
    params: ArtifactParams,
    response: { 200: Success(Artifact) },
    examples: { artifact: {} },
  },
  deleteArtifact: {
    summary: 'Delete an artifact',
    description:
      'Always needs a key. Artifacts that are not deleted expire after the time that the operator sets, by default one day.',
    scope: 'plugins',
    params: ArtifactParams,
    response: { 200: Acknowledgement },
    examples: { artifact: {} },
  },
  getArtifactContent: {
    summary: 'Download an artifact',
    description:
      'Use `file_url` of the artifact as it is: its signature replaces the key. Answers with `Content-Disposition: attachment`, and with a part for a `Range`. After the end of its validity the answer is 404.',
    produces: ['application/octet-stream'],
    params: ArtifactParams,
    querystring: Signature,
    examples: {
      download: {
        query: { project: '$PROJECT_ID', expires: '$ARTIFACT_EXPIRES', signature: '$ARTIFACT_SIGNATURE' },
      },
    },
  },
});
