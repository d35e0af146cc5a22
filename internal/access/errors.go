package access

import "errors"

// ErrUnauthenticated is returned for a bearer that is nobody's. It does not say
// why to the caller; what it wraps is for the log.
var ErrUnauthenticated = errors.New("not recognised")
