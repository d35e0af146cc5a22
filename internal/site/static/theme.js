// Before the page is drawn: the scheme that was chosen here, else the system's.
const chosen = localStorage.getItem('scheme')
if (chosen) document.documentElement.dataset.scheme = chosen
