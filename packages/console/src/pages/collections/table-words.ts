/** The texts of the table of documents. They load with their page, because the first load of other pages is full. */
const en = {
  name: 'Name',
  type: 'Type',
  allTypes: 'All types',
  size: 'Size',
  pages: 'Pages',
  added: 'Added',
  upload: 'Upload files',
  uploadFolder: 'Upload a folder',
  deleted: 'Deleted',
  removed: 'Removed',
  restore: 'Restore',
  restoreMany: 'Restore {count}',
  reprocessMany: 'Reprocess {count} {count|document|documents}?',
  editedMany:
    'In {records} of them, {passages} {passages|passage was|passages were} edited. Processing them again brings back the former text.',
  deleteCollection: 'Delete collection',
  deleteName: 'Enter the name “{name}” to confirm',
  score: 'How well the passage answers the question, from 0 to 1.',
  sortedSome: 'The newest {count} documents are sorted. Search by name to see others.',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  name: '名称',
  type: '类型',
  allTypes: '所有类型',
  size: '大小',
  pages: '页数',
  added: '添加时间',
  upload: '上传文件',
  uploadFolder: '上传文件夹',
  deleted: '已删除',
  removed: '清除时间：',
  restore: '恢复',
  restoreMany: '恢复 {count} 项',
  reprocessMany: '重新处理 {count} 个文档？',
  editedMany: '其中 {records} 个文档有 {passages} 个片段已编辑。重新处理会恢复其原文本。',
  deleteCollection: '删除集合',
  deleteName: '请输入名称“{name}”以确认',
  score: '片段与问题的匹配程度，从 0 到 1。',
  sortedSome: '已对最新的 {count} 个文档排序。请按名称搜索其他文档。',
};

export const tableWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
