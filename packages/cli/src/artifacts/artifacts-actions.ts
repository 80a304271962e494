import { connect } from '../connection/connection.ts';
import { eachItem } from '../each-item.ts';
import type { Output } from '../files/files-actions.ts';
import { printJson } from '../output/print.ts';
import { printItem } from '../output/print-items.ts';

export async function getArtifact(artifactId: string, options: Output): Promise<void> {
  const qm = await connect(options, 'plugins');
  printItem(await qm.artifacts.get(artifactId), options.json);
}

export async function deleteArtifacts(ids: readonly string[], options: Output): Promise<void> {
  const qm = await connect(options, 'plugins');
  await eachItem(ids, async (id) => {
    await qm.artifacts.delete(id);
    if (options.json === true) printJson({ artifact_id: id, deleted: true });
  });
}
