import type { Catalogue } from '../catalogue/catalogue.ts';
import { bundleNotFound } from '../execution/problems.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { ProtocolServerDeps } from './protocol-server.ts';
import { createToolboxes, type Toolbox } from './toolbox.ts';

export interface EndpointsDeps extends ProtocolServerDeps {
  /** The catalogue in force; another object means that the tools have changed. */
  readonly catalogue: () => Pick<Catalogue, 'bundles' | 'describePlugin'>;
}

/** One endpoint for all plugins and one for each bundle, each made when it is first asked for. */
export interface Endpoints {
  /** @throws Problem when there is no such bundle */
  getEndpoint(bundleId: string | undefined): Endpoint;
}

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  let listed = deps.catalogue();
  let toolboxes = createToolboxes(listed, deps.logger);
  const endpoints = new WeakMap<Toolbox, Endpoint>();

  return {
    getEndpoint(bundleId) {
      const catalogue = deps.catalogue();
      if (catalogue !== listed) toolboxes = createToolboxes(catalogue, deps.logger);
      listed = catalogue;
      const toolbox = bundleId === undefined ? toolboxes.all : toolboxes.ofBundle.get(bundleId);
      if (toolbox === undefined) throw bundleNotFound(bundleId ?? '');
      const endpoint = endpoints.get(toolbox) ?? createEndpoint(toolbox, deps);
      endpoints.set(toolbox, endpoint);
      return endpoint;
    },
  };
}
