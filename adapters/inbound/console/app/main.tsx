import { render } from 'preact';
import { Console } from './shell/console.tsx';

const root = document.getElementById('console');
if (root) render(<Console />, root);
