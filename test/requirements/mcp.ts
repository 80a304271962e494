import type { Requirements } from './requirement.ts';

/** The catalogue as tools of the Model Context Protocol. */
export const mcpRequirements: Requirements = {
  'mcp.clients': {
    promise:
      'Every plugin is an MCP tool that unmodified clients list and call, in three revisions, over HTTP and stdio.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '[mcp] ${library} lists every plugin and calls every plugin that works offline, with and without a key',
      '[mcp] ${library} is refused with a wrong key, and without one where a key is required',
      '[mcp] the conformance suite of ${revision} finds nothing that the baseline does not give a reason for',
      '[mcp] a result says the same to programs and to the model; a failure has its code; an unknown tool is an error',
      '[mcp] a client that goes away stops its run; one that asks for progress gets it',
      '[mcp] the same idempotency key runs a tool once',
      '[mcp] a subscription is acknowledged, stays open until its client leaves, and ends with the service',
      '[mcp] quartermaster mcp lists and calls over standard input and output, in each revision',
      '[mcp] quartermaster mcp serves one bundle, with the key of a file and a credential of the environment',
      '[mcp] quartermaster mcp says what the service refuses, and that there is none',
      '[mcp] the lines of the guide that need no application work as they stand',
      '[mcp] the programs of the guide run as they are printed',
      '[mcp] the program of the guide starts, here with the address of a test',
    ],
  },
  'mcp.toolsets': {
    promise:
      'A URL chooses tools. Without a choice, agents search for tools and call what they find, as in a direct call.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '[mcp] ${library} lists three tools, searches with them and calls what it found',
      '[mcp] the default list has at most 6,000 tokens, with the knowledge tools too',
      '[mcp] a call through another tool answers like the direct call, with the same errors',
      '[mcp] a plugin that writes is not called as one that reads, and a wrong call of a search tool says what is wrong',
      '[mcp] a URL that names bundles, tools or a toolset has exactly these, and an unknown name is an error',
      '[mcp] a tool that lacks credentials is found with the reason, and is available once they are sent or stored',
      '[mcp] a search is counted by its outcome, and its question stands in no log',
      '[mcp] the setting MCP_LIST_TOKENS lists the plugins that can work, and those of a bundle always',
    ],
  },
  'mcp.knowledge': {
    promise:
      'Agents search and read collections over MCP with a key of scope `collections`, in an answer of bounded size.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '[mcp] ${name} searches, reads and lists documents at both addresses and in one collection',
      '[mcp] search and fetch answer in one text and the same structured content, with a link to the passage',
      '[mcp] only a key of scope collections has knowledge tools, and only a key of scope plugins has plugins',
      '[mcp] a document of another project is not found, by id, endpoint, cursor or search',
      '[mcp] what documents and collections say never changes the definitions or the instructions',
      '[mcp] a call of a knowledge tool has a log line and is counted',
      '[mcp] one budget holds for several collections, and cursors give every passage once',
      '[mcp] fetch gives a long document in parts that join to the whole',
      '[console] the url of a passage opens its record at the passage, in its project and after a sign-in',
      '[mcp] clients list, build and read documents as resources, at both addresses and in one collection',
      '[mcp] a resource of another project or without a key of scope collections is not shown',
      '[mcp] a revoked or expired key gets 401 for every knowledge tool, resource and plugin, on both addresses',
      '[mcp] the conformance scenarios for resources pass for a key with documents',
      '[mcp] subscriptions to resources are not declared and do not exist',
      '[mcp] a long resource names the URI of its next part, and the parts join to the whole',
      '[mcp] ?links=1 adds one link for each document, and ?profile=chatgpt leaves the arguments query and id',
    ],
  },
  'mcp.safe': {
    promise:
      'MCP has the authorisation, the bounds and the secrecy of the rest; foreign hosts and origins are refused.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[mcp] credentials come by header or _meta, reach the third party, and stand in no result, error or log',
      '[mcp] credentials are never arguments, and what is wrong with them is said without repeating them',
      '[mcp] malformed messages are refused in the words of JSON-RPC, and the service answers on',
      '[mcp] what contradicts itself in the newest revision is refused',
      '[mcp] bodies that are too large or too deep are refused before they cost anything',
      '[mcp] a foreign Host or Origin is refused, with a key too; names that were set are answered',
      '[mcp] there is nothing to GET or DELETE without sessions, and no endpoint for an unknown bundle',
    ],
  },
};
