import { connectClient } from './client.ts';
import { findFreePort, findFreePorts } from './free-port.ts';
import { type ProxyName, startProxyWithPaths } from './reverse-proxy.ts';
import { type Ending, type StartedService, startService } from './service.ts';

export interface ServiceBelowAPath {
  /** Its URLs are those of the proxy: both addresses have one origin. */
  readonly service: StartedService;
  readonly origin: string;
  /** Where the service listens. */
  readonly direct: Pick<StartedService, 'filesUrl' | 'pluginsUrl'>;
}

/** Starts the service behind the sample of a proxy that serves both addresses below paths of one host name. */
export async function startBelowAPath(t: Ending, name: ProxyName): Promise<ServiceBelowAPath> {
  const [port, upstream] = [await findFreePort(), await findFreePorts()];
  const origin = `http://127.0.0.1:${port}`;
  const urls = { filesUrl: `${origin}/quartermaster`, pluginsUrl: `${origin}/quartermaster-tools` };
  const started = await startService(t, {
    settings: {
      FILES_PORT: String(upstream.files),
      PLUGINS_PORT: String(upstream.plugins),
      // One with a slash at the end, as people write it.
      PUBLIC_FILES_URL: `${urls.filesUrl}/`,
      PUBLIC_PLUGINS_URL: urls.pluginsUrl,
      PLUGINS_KEY: 'required',
      TRUSTED_PROXIES: '127.0.0.1',
      LOG_LEVEL: 'warn',
    },
  });
  await startProxyWithPaths(t, name, port, upstream);
  const service = { ...started, ...urls, client: connectClient(urls, started.key) };
  return { service, origin, direct: { filesUrl: started.filesUrl, pluginsUrl: started.pluginsUrl } };
}
