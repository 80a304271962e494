/** The texts of passages. They load with their page, because the first load of other pages is full. */
const en = {
  edit: 'Edit',
  edited: 'Edited',
  editedLost:
    '{count} {count|passage was|passages were} edited. Processing the document again brings back {count|its|their} former text.',
  reprocessTitle: 'Reprocess “{name}”?',
  discard: 'Discard',
  discardTitle: 'Discard your changes?',
  discardAbout: 'The text of this passage is not saved.',
  editOf: 'Edit passage: {start}',
  content: 'Text of the passage',
  question: 'Question',
  answer: 'Answer',
  save: 'Save',
  addCorrected: 'Upload the corrected rows',
  notCorrected:
    'The sheet has no column “qm:row”, so it is not the corrected download of these rows. Add other sheets on the page of the collection.',
  correctionTitle: '{name}: corrected rows',
  correction: 'Corrected rows of this sheet',
  corrects: 'The sheet whose rows these correct',
  about: 'Search finds the new text at once. Reprocessing the document brings back the old one.',
  passage: 'A passage is a part of a document. Search finds and returns passages.',
  unsavedLost:
    'The text of {count} {count|passage is|passages are} not saved. Your changes to {count|it|them} are lost.',
  token: 'Models count texts in tokens. An English word has about 1.3 tokens.',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  edit: '编辑',
  edited: '已编辑',
  editedLost: '已编辑 {count} 个片段。重新处理文档会恢复其原文本。',
  reprocessTitle: '重新处理“{name}”？',
  discard: '放弃',
  discardTitle: '放弃更改？',
  discardAbout: '此片段的文本尚未保存。',
  editOf: '编辑片段：{start}',
  content: '片段文本',
  question: '问题',
  answer: '答案',
  save: '保存',
  addCorrected: '上传更正后的行',
  notCorrected: '该表格没有“qm:row”列，因此不是这些行更正后的下载文件。其他表格请在集合页面添加。',
  correctionTitle: '{name}：更正后的行',
  correction: '查看更正后的行',
  corrects: '查看被更正的表格',
  about: '搜索立即使用新文本。重新处理文档会恢复原文本。',
  passage: '片段是文档的一部分。搜索查找并返回片段。',
  unsavedLost: '{count} 个片段的文本尚未保存。这些更改将丢失。',
  token: '模型以词元计算文本长度。一个汉字约为一个词元。',
};

export const passageWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
