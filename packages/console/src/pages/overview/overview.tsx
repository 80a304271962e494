import { useLanguage } from '../../language/language.tsx';
import { PageHead } from '../../pieces/page-head.tsx';

export function Overview() {
  const { t } = useLanguage();
  return <PageHead title={t('nav.overview')} />;
}
