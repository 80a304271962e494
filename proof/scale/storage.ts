import { type S3Server, startS3Server } from '../../packages/server/src/storage/s3/testing/s3-server.fixture.ts';
import type { Endings } from '../support/endings.ts';

/** Starts an S3 server in memory. Returns the variables of a node that uses it. */
export async function startStorage(endings: Endings): Promise<{ server: S3Server; variables: Record<string, string> }> {
  const server = await startS3Server();
  endings.after(server.close);
  const { endpoint, accessKeyId, secretAccessKey, bucket, prefix } = server.place;
  const variables = {
    QUARTERMASTER_BLOBS: `s3://${bucket}/${prefix}`,
    AWS_ENDPOINT_URL: endpoint ?? '',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey.reveal(),
  };
  return { server, variables };
}
