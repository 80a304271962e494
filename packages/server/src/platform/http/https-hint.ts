import type { Logger } from '../log/logger.ts';
import type { App } from './app.ts';

/**
 * Warns once when a trusted proxy reports HTTPS and the public URL has no https, because cookies then lack `Secure`.
 */
export function hintAtHttps(app: App, { logger, setting }: { logger: Logger; setting: string }): void {
  let isSaid = false;
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isSaid && request.protocol === 'https') {
      isSaid = true;
      logger.warn({ setting }, 'public URL is not https: clients use https');
    }
    done();
  });
}
