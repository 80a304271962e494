/** The texts of passages. They load with their page, because the first load of other pages is full. */
const en = {
  edit: 'Edit',
  editOf: 'Edit passage: {start}',
  content: 'Text of the passage',
  question: 'Question',
  answer: 'Answer',
  save: 'Save',
  addCorrected: 'Upload the corrected rows',
  correctionTitle: '{name}: corrected rows',
  correction: 'Corrected rows of this sheet',
  corrects: 'The sheet whose rows these correct',
  about: 'Search finds the new text at once. Reprocessing the document brings back the old one.',
  passage: 'A passage is a part of a document. Search finds and returns passages.',
  token: 'Models count texts in tokens. An English word has about 1.3 tokens.',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  edit: '编辑',
  editOf: '编辑片段：{start}',
  content: '片段文本',
  question: '问题',
  answer: '答案',
  save: '保存',
  addCorrected: '上传更正后的行',
  correctionTitle: '{name}：更正后的行',
  correction: '查看更正后的行',
  corrects: '查看被更正的表格',
  about: '搜索立即使用新文本。重新处理文档会恢复原文本。',
  passage: '片段是文档的一部分。搜索查找并返回片段。',
  token: '模型以词元计算文本长度。一个汉字约为一个词元。',
};

export const passageWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
