package store

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// dsnKeys are the keywords that a PostgreSQL keyword DSN begins with in practice,
// of those of libpq. A spec that begins with one is a DSN and no path.
// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS)
var dsnKeys = []string{
	"host", "hostaddr", "port", "dbname", "database", "user", "password", "passfile", "service", "servicefile", "sslmode", "sslcert", "sslkey",
	"sslrootcert", "sslpassword", "sslsni", "connect_timeout", "application_name", "options", "target_session_attrs", "channel_binding",
}

var (
	// dsnStart matches the first keyword of a DSN.
	dsnStart = regexp.MustCompile(`^\s*([A-Za-z_]+)\s*=`)
	// dsnPair matches one setting: a bare value, or a quoted one with \' and \\ in it.
	dsnPair = regexp.MustCompile(`^\s*([A-Za-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?:\s+|$)`)
	escaped = regexp.MustCompile(`\\(.)`)
	// credentials matches what is not a path but a server's address with a password
	// in it:
	//	password=…, scheme://…, user:password@…
	credentials = regexp.MustCompile(`(?i)(?:^|[\s;&?])(?:password|passwd|pwd|sslpassword)\s*=|^[a-z][a-z0-9+.-]+://|^(?://)?[^/\s:]+:[^/\\\s@][^/\s@]*@`)
)

var errDSN = errors.New(`the settings cannot be read; write them as "host=… port=… dbname=… user=…", values with spaces in '…', or as postgres://user@host/database`)

// isDSN reports whether spec is a PostgreSQL keyword DSN, such as
// "host=h dbname=d".
func isDSN(spec string) bool {
	m := dsnStart.FindStringSubmatch(spec)
	return m != nil && slices.Contains(dsnKeys, strings.ToLower(m[1]))
}

// dsnURL converts a keyword DSN to a URL. The error never repeats the DSN, which
// may hold a password.
func dsnURL(dsn string) (string, error) {
	u := url.URL{Scheme: "postgres", Path: "/"}
	rest, set := url.Values{}, map[string]string{}
	for dsn = strings.TrimSpace(dsn); dsn != ""; {
		m := dsnPair.FindStringSubmatch(dsn)
		if m == nil {
			return "", fmt.Errorf("%w: %w", ErrSpec, errDSN)
		}
		set[strings.ToLower(m[1])] = escaped.ReplaceAllString(m[2]+m[3], "$1")
		dsn = dsn[len(m[0]):]
	}
	for key, value := range set {
		switch key {
		case "dbname", "database":
			u.Path = "/" + value
		case "user", "host", "port":
		default:
			rest.Set(key, value)
		}
	}
	if user, ok := set["user"]; ok {
		u.User = url.User(user)
	}
	// The host of a URL can be neither a socket's folder nor a list of hosts.
	if host, port := set["host"], set["port"]; strings.ContainsAny(host+port, "/,") {
		rest.Set("host", host)
		if port != "" {
			rest.Set("port", port)
		}
	} else if u.Host = host; port != "" {
		u.Host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	u.RawQuery = rest.Encode()
	return u.String(), nil
}

// RedactSpec returns spec in a form that is safe to print: without a password and
// without the other parameters of a URL or DSN. A spec that names no store is
// shown as "…".
func RedactSpec(spec string) string {
	k, at, err := parseSpec(spec)
	switch {
	case err != nil:
		return "…"
	case k == inMemory:
		return "memory:"
	case k == inSQLite:
		return "sqlite:" + at
	}
	u, err := url.Parse(at)
	if err != nil {
		return "postgres://…"
	}
	shown := url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}
