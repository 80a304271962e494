import type { Catalogue } from '../catalogue/catalogue.ts';
import { bundleNotFound } from '../execution/problems.ts';
import { createEndpoint, type Endpoint } from './endpoint.ts';
import type { ProtocolServerDeps } from './protocol-server.ts';
import { createToolboxes, type Toolbox, type Toolboxes } from './toolbox.ts';

export interface EndpointsDeps extends ProtocolServerDeps {
  /** The catalogue in force; another object means that the tools have changed. */
  readonly catalogue: () => Pick<Catalogue, 'bundles' | 'describePlugin'>;
}

/** One endpoint for all plugins and one for each bundle, each made when it is first asked for. */
export interface Endpoints {
  /** @throws Problem when there is no such bundle */
  getEndpoint(bundleId: string | undefined): Endpoint;
  endStreams(): void;
}

export function createEndpoints(deps: EndpointsDeps): Endpoints {
  let listed = deps.catalogue();
  let toolboxes = createToolboxes(listed, deps.logger);
  let endpoints = new Map<Toolbox, Endpoint>();

  function currentToolboxes(): Toolboxes {
    const catalogue = deps.catalogue();
    if (catalogue !== listed) {
      for (const endpoint of endpoints.values()) endpoint.endStreams();
      listed = catalogue;
      toolboxes = createToolboxes(catalogue, deps.logger);
      endpoints = new Map();
    }
    return toolboxes;
  }

  return {
    getEndpoint(bundleId) {
      const { all, ofBundle } = currentToolboxes();
      const toolbox = bundleId === undefined ? all : ofBundle.get(bundleId);
      if (toolbox === undefined) throw bundleNotFound(bundleId ?? '');
      const made = endpoints.get(toolbox) ?? createEndpoint(toolbox, deps);
      endpoints.set(toolbox, made);
      return made;
    },
    endStreams: () => {
      for (const endpoint of endpoints.values()) endpoint.endStreams();
    },
  };
}
