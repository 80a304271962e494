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
      '[mcp] the text and the structured content of a result agree, a failure has its code, and an unknown tool is an error',
      '[mcp] a disconnect of the client stops its run, and a client that asks for progress receives it',
      '[mcp] the same idempotency key runs a tool once',
      '[mcp] a subscription is acknowledged and stays open until its client disconnects or the service stops',
      '[mcp] the first requests of a client load no module, because loading would block the event loop',
      '[mcp] quartermaster mcp lists and calls over standard input and output, in each revision',
      '[mcp] quartermaster mcp serves one bundle, with the key of a file and a credential of the environment',
      '[mcp] quartermaster mcp reports refusals of the service, and a service that does not answer',
      '[mcp] the commands of the guide that need no other application work as printed',
      '[mcp] the programs of the guide run as printed',
      '[mcp] the program of the guide starts with the address of the test',
    ],
  },
  'mcp.toolsets': {
    promise:
      'A URL chooses tools. Without a choice, agents search for tools and call what they find, as in a direct call.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '[mcp] ${library} lists three tools, searches with them and calls what it found',
      '[mcp] the default list has at most 6,000 tokens, including the knowledge tools',
      '[mcp] a call through another tool returns the same result and errors as the direct call',
      '[mcp] call_read_tool refuses plugins that write, and the error for a wrong call of a search tool names the reason',
      '[mcp] a search for tools continues only its own question, and names the arguments that it ignores',
      '[mcp] a URL that names bundles, tools or a toolset offers exactly these, and an unknown name is an error',
      '[mcp] a tool that lacks credentials is found with the reason, and is available once they are sent or stored',
      '[mcp] a search is counted by its outcome, and its question appears in no log',
      '[mcp] with the setting MCP_LIST_TOKENS the list contains the plugins that can work, and always all of a bundle endpoint',
    ],
  },
  'mcp.knowledge': {
    promise:
      'Agents search and read collections over MCP with a key of scope `collections`, in an answer of bounded size.',
    source: 'docs/contract.md "Catalogue and execution"',
    tests: [
      '[mcp] ${library} searches, reads and lists documents at both addresses and in one collection',
      '[mcp] search and fetch return one text and the same structured content, with a link to the passage',
      '[mcp] only a key with scope collections has knowledge tools, and only a key with scope plugins has plugins',
      '[mcp] a document of another project is not found, by id, endpoint, cursor or search',
      '[mcp] contents of documents and collections never change the tool definitions or the instructions',
      '[mcp] a call of a knowledge tool has a log line and is counted',
      '[mcp] one budget applies to several collections together, and cursors return every passage once',
      '[mcp] fetch returns a long document in parts that together are the whole text',
      '[console] the url of a passage opens its record at the passage, in its project and after a sign-in',
      '[mcp] resources of other projects are not shown, nor any without a key with scope collections',
      '[mcp] a revoked or expired key gets 401 for every knowledge tool, resource and plugin, on both addresses',
      '[mcp] the conformance scenarios for resources pass for a key with documents',
      '[mcp] subscriptions to resources are not declared and do not exist',
      '[mcp] a long resource names the URI of its next part, and the parts together are the whole text',
      '[mcp] ?links=1 adds one link for each document, and ?profile=chatgpt keeps only the arguments query and id',
    ],
  },
  'mcp.safe': {
    promise: 'MCP has the same authorisation, limits and secrecy as REST, and refuses foreign hosts and origins.',
    source: 'docs/contract.md "Isolation"',
    tests: [
      '[mcp] credentials in a header or in _meta reach the third party, and appear in no result, error or log',
      '[mcp] credentials are never arguments, and errors about them do not repeat them',
      '[mcp] malformed messages get JSON-RPC errors, and the service continues',
      '[mcp] contradictory requests of the newest revision are refused',
      '[mcp] every Accept header that includes JSON is served, also with null params and a slash after the path',
      '[mcp] bodies that are too large or too deeply nested are refused before they are processed',
      '[mcp] a foreign Host or Origin is refused even with a key, and configured names are accepted',
      '[mcp] GET and DELETE are not allowed because there are no sessions, and an unknown bundle has no endpoint',
    ],
  },
};
