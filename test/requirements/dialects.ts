import type { Requirements } from './requirement.ts';

/** Requests and responses in the form of other programs. */
export const dialectsRequirements: Requirements = {
  'dialects.dify': {
    promise: 'Dify finds the chunks of a collection, with its settings, conditions and error bodies.',
    source: 'docs/contract.md "Dialects"',
    tests: [
      '[dialects] Dify finds the chunks of a collection, each with a score, a title and an object of metadata',
      '[dialects] a title in a response to Dify has no control characters and no overrides of the text direction',
      '[dialects] the threshold that Dify proposes keeps the right chunk of a small collection',
      '[dialects] the condition of Dify ${name} ${comparison_operator} ${value} selects the same chunks as a filter',
      '[dialects] conditions of Dify are combined by and, by or, and absent ones select everything',
      '[dialects] a request of Dify that cannot be answered is refused in its form, with the field and a request id',
      '[dialects] 400 damaged questions of Dify are answered in its form, and none with a failure of the service',
      '[dialects] the test request of Dify without a body passes with a good key and is 403 with any other',
    ],
  },
  'dialects.open-webui': {
    promise: 'Open WebUI gets the text of a document by page or sheet, and nothing of it is stored.',
    source: 'docs/contract.md "Dialects"',
    tests: [
      '[dialects] Open WebUI gets one item for each page of a PDF, and pages count from 0',
      '[dialects] Open WebUI gets the whole text of a document without pages, and one item for each sheet',
      '[dialects] the format of a document follows from its name, and otherwise from its type',
      '[dialects] a document that cannot be read says why, and one without text in the words that Open WebUI knows',
      '[dialects] 150 damaged documents of Open WebUI are read or refused in its form, and the service reads on',
      '[dialects] documents of Open WebUI count as uploads of their project, and beside others each gets its own text',
      '[dialects] documents of Open WebUI leave nothing behind but lines of the log without their name and text',
    ],
  },
  'dialects.access': {
    promise: 'A dialect needs a key with its scope and shows objects of the project of the key only.',
    source: 'docs/contract.md "Dialects"',
    tests: [
      '[dialects] the request in the guide ${dialect} works as printed',
      '[dialects] each dialect answers a key of its scope in its project, and refuses every other caller',
    ],
  },
};
