// Runs before anything is drawn: a chosen appearance must not flash in the other one first.
try {
  const chosen = localStorage.getItem('postern.appearance');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.appearance = chosen;
} catch {}
