import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openBlobFolder } from '../adapters/disk/blob-folder.ts';
import { folderInstance } from '../adapters/disk/folder-instance.ts';
import { createFileRepository } from '../adapters/repositories/file-repository.ts';
import { createNodeRepository } from '../adapters/repositories/node-repository.ts';
import { createProjectRepository } from '../adapters/repositories/project-repository.ts';
import { createStoreRepository } from '../adapters/repositories/store-repository.ts';
import { claimDataFolder, folderIds } from '../files/store-identity.ts';
import { version } from '../kernel/version.ts';
import { claimNode } from '../nodes/claim-node.ts';
import { leaseMs, openNode } from '../nodes/open-node.ts';
import type { ServiceContext } from './context.ts';

type NodeContext = Pick<ServiceContext, 'config' | 'database' | 'logger' | 'registry' | 'resources'>;

/**
 * Makes this process the only one that serves the files of the store, until it stops. A process that serves only plugins
 * needs no place: there may be many.
 */
export async function openFilesNode({ config, database, logger, registry, resources }: NodeContext): Promise<void> {
  const { serve, dataFolder } = config;
  if (serve === 'plugins') return;
  const isDatabaseInFolder = database.dialect === 'sqlite';
  const folderId = await claimDataFolder(dataFolder, {
    store: createStoreRepository(database),
    projects: createProjectRepository(database),
    files: createFileRepository(database),
    blobs: openBlobFolder(dataFolder),
    isDatabaseInFolder,
  });
  const repository = createNodeRepository(database);
  const nodeId = randomUUID();
  await claimNode(
    { id: nodeId, serves: serve, host: hostname(), version, folderInstance: await folderInstance(dataFolder) },
    {
      ...{ repository, logger, isDatabaseInFolder, leaseMs },
      folder: {
        path: dataFolder,
        id: folderId,
        prepareId: (newId) => folderIds.prepare(dataFolder, newId),
        finishId: (newId) => folderIds.finish(dataFolder, newId),
      },
    },
  );
  const node = await openNode({ nodeId, repository, fence: database.fence, logger, metrics: registry });
  resources.defer(() => node.close());
}
