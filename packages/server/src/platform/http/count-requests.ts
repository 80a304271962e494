import { addRateFields, rateRefusals } from '../admission/rate-answers.ts';
import type { Rates } from '../admission/rates.ts';
import { identityOf } from '../log/request-identity.ts';
import { Problem } from '../problem.ts';
import type { App } from './app.ts';

/** A limit never prevents a caller from reading or deleting limits, or from a probe. */
const uncounted = /^\/metrics$|\/rate_limits\b|\/v1\/(?:health_check|version)$/;

/**
 * Counts the requests of keys and applications against rate limits, after authentication and before the body is read. MCP answers a
 * refused request itself, because clients take a 429 for a broken connection.
 */
export function countRequests(app: App, rates: Pick<Rates, 'take'>): void {
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const { project, key } = identityOf(request);
    const { url = '' } = request.routeOptions;
    if (project === undefined || key === undefined || uncounted.test(url)) return done();
    const owner = { projectId: project, keyId: key };
    const taken = rates.take(owner, null, (fields) => addRateFields(reply, fields));
    if (taken === undefined) return done();
    taken.then(
      () => done(),
      (error) => {
        if (!(error instanceof Problem) || !url.startsWith('/mcp')) return done(error);
        rateRefusals.set(request.raw, error);
        done();
      },
    );
  });
}
