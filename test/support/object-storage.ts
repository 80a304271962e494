import type { TestContext } from 'node:test';
import { type S3Server, startS3Server } from '../../packages/server/src/storage/s3/testing/s3-server.fixture.ts';

/** Starts an S3 server, with the variables that lead to it. */
export async function startStorage(
  t: TestContext,
): Promise<S3Server & { readonly environment: Record<string, string> }> {
  const server = await startS3Server();
  t.after(() => server.close());
  const { endpoint, accessKeyId, secretAccessKey } = server.place;
  const environment = {
    AWS_ENDPOINT_URL: endpoint ?? '',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey.reveal(),
  };
  return Object.assign(server, { environment });
}

/** Gives a service more variables than settings. */
export const launcherOf = (environment: Readonly<Record<string, string>>) => [
  'env',
  ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
];
