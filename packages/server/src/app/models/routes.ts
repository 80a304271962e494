import { EmbeddingModelChoice, EmbeddingModels, Success } from '@quartermaster/contract';
import { embeddingModelOperations as operations } from '@quartermaster/contract/operations';
import { successEnvelope } from '../../platform/envelope.ts';
import type { App } from '../../platform/http/app.ts';
import type { ManagerGuard } from '../../platform/http/guard.ts';
import type { ModelChoice } from './model-choice.ts';

export interface ModelRoutesDeps {
  readonly choice: ModelChoice;
  /** Refuses everybody but administrators of the service, before the body is read. */
  readonly onRequest: ManagerGuard['manages'];
}

const security = [{ session: [], consoleToken: [] }];
const path = '/v1/embedding_models';

/** Registers the routes that list and choose recommended embedding models. */
export function modelRoutes(app: App, { choice, onRequest }: ModelRoutesDeps): void {
  const response = { 200: Success(EmbeddingModels) };
  app.get(path, { onRequest, schema: { ...operations.listEmbeddingModels, security, response } }, async () =>
    successEnvelope(await choice.describe()),
  );
  app.post(
    path,
    { onRequest, schema: { ...operations.chooseEmbeddingModel, security, body: EmbeddingModelChoice, response } },
    async (request) => {
      const { model } = request.body;
      if (model === null) await choice.cancel(request);
      else await choice.begin(model, request);
      return successEnvelope(await choice.describe());
    },
  );
}
