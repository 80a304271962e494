/** The few words of the page; the document itself is in English. */
const words = {
  en: {
    title: 'API reference',
    search: 'Search operations',
    parameters: 'Parameters',
    body: 'Body',
    answer: 'Answer',
    example: 'Example',
    copy: 'Copy',
    copied: 'Copied',
    required: 'required',
    noKey: 'no key needed',
    document: 'OpenAPI document',
    console: 'Console',
    operations: 'Operations',
    failed: 'The document could not be read.',
    none: 'No operation has all of these words.',
    oneOf: 'one of',
    each: 'each item',
  },
  zh: {
    title: 'API 参考',
    search: '搜索操作',
    parameters: '参数',
    body: '请求体',
    answer: '应答',
    example: '示例',
    copy: '复制',
    copied: '已复制',
    required: '必填',
    noKey: '无需密钥',
    document: 'OpenAPI 文档',
    console: '控制台',
    operations: '操作',
    failed: '无法读取文档。',
    none: '没有同时包含这些词的操作。',
    oneOf: '以下之一',
    each: '每一项',
  },
} as const;

const chosen = (localStorage.getItem('quartermaster-language') ?? navigator.language).startsWith('zh') ? 'zh' : 'en';
export const language: keyof typeof words = chosen;
export const word: Readonly<Record<keyof (typeof words)['en'], string>> = words[chosen];
