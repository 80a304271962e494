/** The texts of evaluations. They load with their tab. */
const en = {
  allFirst: 'Every expected answer was found first.',
  at: 'Evaluated {time}.',
  before: 'Before',
  best: 'Best result',
  choose: 'Choose a sheet',
  compared: '{now} (before: {before})',
  expected: 'Expected',
  go: 'Evaluate',
  noPrevious: 'The next evaluation will be compared with this one.',
  notFound: 'not found',
  num_first: 'Found first',
  num_within_ten: 'Within ten',
  num_within_three: 'Within three',
  other:
    'The previous evaluation ({time}) had other questions: {same} of its {all} {all|question|questions} {same|is|are} the same. Only the places of these are compared.',
  place: 'Place',
  previous: 'Compared with the evaluation of {time}.',
  question: 'Question',
  share: '{count} of {all}',
  sheet: 'Sheet of questions',
  sheetAbout:
    'CSV file or workbook with the columns “question” and “expected”: the name of a document or a text of the passage. At most 300 rows. If the columns have other names, you can choose them afterwards.',
  skipped: '{count} {count|row was|rows were} not asked',
  start: 'Measure with your own questions',
  startAbout:
    'Upload questions whose answers you know. The result shows how often this collection finds them, and what has changed since the last time.',
  taken: 'Columns: questions from “{question}”, expected from “{expected}”.',
} as const;

const zh: Readonly<Record<keyof typeof en, string>> = {
  allFirst: '每个预期答案都排在第一位。',
  at: '评测时间：{time}。',
  before: '上次',
  best: '最佳结果',
  choose: '选择表格',
  compared: '{now}（上次：{before}）',
  expected: '预期',
  go: '评测',
  noPrevious: '下一次评测将与本次比较。',
  notFound: '未找到',
  num_first: '排在第一',
  num_within_ten: '前十',
  num_within_three: '前三',
  other: '上一次评测（{time}）的问题不同：其 {all} 个问题中有 {same} 个相同。仅比较这些问题的位置。',
  place: '位置',
  previous: '与 {time} 的评测比较。',
  question: '问题',
  share: '{all} 个中的 {count} 个',
  sheet: '问题表格',
  sheetAbout:
    'CSV 文件或工作簿，包含“question”和“expected”两列：文档名称或片段中的文字。最多 300 行。列名不同时，可以之后选择。',
  skipped: '{count} 行未提问',
  start: '用您自己的问题评测',
  startAbout: '上传您知道答案的问题。结果显示此集合找到答案的比例，以及与上次相比的变化。',
  taken: '列：问题取自“{question}”，预期取自“{expected}”。',
};

export const evaluationWords: Readonly<Record<'en' | 'zh', typeof zh>> = { en, zh };
