/** The texts of passages. They load with their page, because the first load of other pages is full. */
const en = {
  edit: 'Edit',
  editOf: 'Edit passage: {start}',
  text: 'Text of the passage',
  save: 'Save',
  about: 'Search finds the new text at once. Reprocessing the document brings back the old one.',
  passage: 'A passage is a part of a document. Search finds and returns passages.',
  token: 'Models count texts in tokens. An English word has about 1.3 tokens.',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  edit: '编辑',
  editOf: '编辑片段：{start}',
  text: '片段文本',
  save: '保存',
  about: '搜索立即使用新文本。重新处理文档会恢复原文本。',
  passage: '片段是文档的一部分。搜索查找并返回片段。',
  token: '模型以词元计算文本长度。一个汉字约为一个词元。',
};

export const passageWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
