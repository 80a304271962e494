import { isLoopback } from '../../platform/http/allowed-hosts.ts';
import type { Config } from '../settings/config.ts';
import type { ModelConfig } from '../settings/models-file.ts';

/** Lists the connections that the settings leave unencrypted, each with its remedy. Connections within this machine are not listed. */
export function transportWarnings(config: Config): string[] {
  const warnings: string[] = [];
  const urls = [config.publicFilesUrl, config.publicPluginsUrl];
  if (!isLoopback(config.host) && !urls.some((url) => url?.startsWith('https:'))) {
    warnings.push(
      'QUARTERMASTER_HOST is not a loopback address and no public URL has https: keys and passwords cross the network unencrypted. Put a proxy with TLS in front and set the public URLs.',
    );
  }
  if (config.databaseUrl !== null && !isEncrypted(config.databaseUrl.reveal())) {
    warnings.push(
      'The connection to PostgreSQL is unencrypted. Add sslmode=verify-full to QUARTERMASTER_DATABASE_URL.',
    );
  }
  if (isOpen(config)) {
    warnings.push('The connection to the embedding service is unencrypted. Use https in QUARTERMASTER_EMBEDDING_URL.');
  }
  if (config.furtherModels.some(isOpen)) {
    warnings.push(
      'The connection to an embedding service is unencrypted. Use https in each url of QUARTERMASTER_EMBEDDING_MODELS_FILE.',
    );
  }
  if (config.rerankerProvider !== 'none' && config.rerankerUrl !== null && isOpenUrl(config.rerankerUrl)) {
    warnings.push('The connection to the reranking service is unencrypted. Use https in QUARTERMASTER_RERANKER_URL.');
  }
  return warnings;
}

/** Whether texts for the model cross a network unencrypted. */
function isOpen({ embeddingProvider, embeddingUrl }: ModelConfig): boolean {
  const usesService = !['none', 'onnx'].includes(embeddingProvider);
  return usesService && embeddingUrl !== null && isOpenUrl(embeddingUrl);
}

function isOpenUrl(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** Whether the URL requires TLS or leads to this machine: a loopback address or a Unix socket. */
function isEncrypted(databaseUrl: string): boolean {
  if (!URL.canParse(databaseUrl)) return true;
  const { hostname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? hostname;
  if (host === '' || host.startsWith('/') || isLoopback(host)) return true;
  const mode = searchParams.get('sslmode');
  return (mode !== null && mode !== 'disable') || searchParams.get('ssl') === 'true';
}
