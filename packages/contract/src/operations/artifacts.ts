import { describeOperations } from './operation.ts';

export const artifactOperations = describeOperations('artifacts', {
  getArtifact: {
    summary: 'Get an artifact',
    description:
      'An output of a plugin that is stored: a picture, a document, or a large output. `file_url` is a signed URL of its bytes. Always needs a key.',
    scope: 'plugins:read',
    examples: { artifact: {} },
  },
  deleteArtifact: {
    summary: 'Delete an artifact',
    description:
      'Always needs a key. Artifacts that are not deleted expire after the time that the operator sets, by default one day.',
    scope: 'plugins',
    examples: { artifact: {} },
  },
  getArtifactContent: {
    summary: 'Download an artifact',
    description:
      'Use `file_url` of the artifact as it is: its signature replaces the key. Answers with `Content-Disposition: attachment`, and with a part for a `Range`. After the end of its validity the answer is 404.',
    examples: {
      download: {
        query: { project: '$PROJECT_ID', expires: '$ARTIFACT_EXPIRES', signature: '$ARTIFACT_SIGNATURE' },
      },
    },
  },
});
