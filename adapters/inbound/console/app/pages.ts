import { overview } from './pages/overview.tsx';
import type { Page } from './router.ts';
export const pages: readonly Page[] = [overview];
