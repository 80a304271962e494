import { describeOperations } from './operation.ts';

const who = 'Requires a session of an administrator of the service; keys are not accepted.';

export const embeddingModelOperations = describeOperations('collections', {
  listEmbeddingModels: {
    summary: 'List the recommended embedding models',
    description: `${who} Shows the size and the licence of each model, the download in progress, and how many collections have been embedded.`,
    examples: { models: {} },
  },
  chooseEmbeddingModel: {
    summary: 'Search by meaning with a recommended model',
    description: `${who} Downloads the model in the background, compares its files with the checksums of the first download, tries it, and embeds all collections with it. Until then, the former model stays in use. If the service stops during a download, its next start begins the download again.`,
    examples: {
      model: { body: { model: 'multilingual-e5-small' } },
      cancel: { summary: 'Cancel the download', body: { model: null } },
    },
  },
});
