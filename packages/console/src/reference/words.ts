/** The texts of the page. The document itself is in English. */
const words = {
  en: {
    title: 'API reference',
    skip: 'Skip to content',
    search: 'Search operations',
    parameters: 'Parameters',
    body: 'Body',
    answer: 'Response',
    errors: 'Errors',
    example: 'Examples',
    copy: 'Copy',
    copied: 'Copied',
    required: 'required',
    noKey: 'no key required',
    document: 'OpenAPI document',
    console: 'Console',
    operations: 'Operations',
    failed: 'The OpenAPI document could not be loaded. Reload the page.',
    none: 'No operations match.',
    oneOf: 'one of',
    each: 'each item',
  },
  zh: {
    title: 'API 参考',
    skip: '跳到内容',
    search: '搜索操作',
    parameters: '参数',
    body: '请求体',
    answer: '响应',
    errors: '错误',
    example: '示例',
    copy: '复制',
    copied: '已复制',
    required: '必填',
    noKey: '无需密钥',
    document: 'OpenAPI 文档',
    console: '控制台',
    operations: '操作',
    failed: '无法加载 OpenAPI 文档，请刷新页面。',
    none: '没有匹配的操作。',
    oneOf: '以下之一',
    each: '每一项',
  },
} as const;

const chosen = (localStorage.getItem('quartermaster-language') ?? navigator.language).startsWith('zh') ? 'zh' : 'en';
export const language: keyof typeof words = chosen;
export const word: Readonly<Record<keyof (typeof words)['en'], string>> = words[chosen];
