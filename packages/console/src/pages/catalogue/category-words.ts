import type { BundleCategory } from '@quartermaster/contract';

type Words = Readonly<Record<BundleCategory | 'label' | 'all', string>>;

/** What only the catalogue shows, so that other pages do not load it. */
export const categoryWords: Readonly<Record<'en' | 'zh', Words>> = {
  en: {
    label: 'Category',
    all: 'All categories',
    accounting: 'Accounting',
    artificial_intelligence: 'Artificial intelligence',
    business_intelligence: 'Business intelligence',
    commerce: 'Commerce',
    communication: 'Communication',
    content_and_files: 'Content and files',
    customer_support: 'Customer support',
    developer_tools: 'Developer tools',
    forms_and_surveys: 'Forms and surveys',
    human_resources: 'Human resources',
    information: 'Information',
    marketing: 'Marketing',
    payment_processing: 'Payment processing',
    productivity: 'Productivity',
    sales_and_crm: 'Sales and CRM',
    utilities: 'Utilities',
  },
  zh: {
    label: '类别',
    all: '所有类别',
    accounting: '会计',
    artificial_intelligence: '人工智能',
    business_intelligence: '商业智能',
    commerce: '电子商务',
    communication: '通信',
    content_and_files: '内容与文件',
    customer_support: '客户支持',
    developer_tools: '开发者工具',
    forms_and_surveys: '表单与调查',
    human_resources: '人力资源',
    information: '信息',
    marketing: '营销',
    payment_processing: '支付处理',
    productivity: '生产力',
    sales_and_crm: '销售与 CRM',
    utilities: '实用工具',
  },
};
