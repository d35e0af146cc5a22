package config

// A goneSetting is one that Earshot had once. Who still sets it is told so: in a file,
// which somebody wrote for this program, by an error as for any unknown key; in the
// environment, where variables are left over, by a line at the start.
type goneSetting struct {
	key, variable string
	now           string // what holds in its place
}

// String says that the setting is gone, and the remedy.
func (g goneSetting) String() string { return "is gone, take it out: " + g.now }

// gone are the settings that nobody could sensibly turn (docs/decisions/195).
var gone = []goneSetting{
	{"limits.result_bytes", "EARSHOT_RESULT_BYTES", "a tool's result has 64 KiB at the most"},
	{"limits.file_seconds", "EARSHOT_FILE_SECONDS", "the files of a question are fetched for 5 seconds at the most"},
	{"limits.file_cache_mb", "EARSHOT_FILE_CACHE_MB", "50 MB of fetched files are kept in memory"},
	{"limits.search_mb", "", "its name is search.memory_mb"},
	{"summary.tokens", "EARSHOT_SUMMARY_TOKENS", "a summary has 1,200 tokens at the most"},
	{"local.workspace", "EARSHOT_LOCAL_WORKSPACE", "the workspace is local"},
	{"local.person", "EARSHOT_LOCAL_PERSON", "the terminal begins as guest; /as NAME changes that"},
	{"local.channel", "EARSHOT_LOCAL_CHANNEL", "the terminal begins in general; /channel NAME changes that"},
	{"slack.sockets", "EARSHOT_SLACK_SOCKETS", "two Socket Mode connections are open"},
	{"slack.share_rates", "EARSHOT_SLACK_SHARE_RATES", "rate limits are shared where the store is PostgreSQL"},
	{"slack.stale_serve_ttl", "EARSHOT_SLACK_STALE_SERVE_TTL", "stored messages are used for ten minutes"},
	{"slack.reconcile_hours", "EARSHOT_SLACK_RECONCILE_HOURS", "history is read for channels with a message of the last 72 hours"},
	{"discord.stale_serve_ttl", "EARSHOT_DISCORD_STALE_SERVE_TTL", "stored messages are used for ten minutes"},
	{"discord.reconcile_hours", "EARSHOT_DISCORD_RECONCILE_HOURS", "history is read for channels with a message of the last 72 hours"},
	{"api.rates.caller_burst", "EARSHOT_API_BURST_CALLER", "twice api.rates.caller are answered at once"},
	{"api.rates.channel", "EARSHOT_API_RATE_CHANNEL", "a channel has the rate of a caller, api.rates.caller"},
	{"api.rates.channel_burst", "EARSHOT_API_BURST_CHANNEL", "twice api.rates.caller are answered at once"},
	{"api.oidc.algorithms", "EARSHOT_OIDC_ALGORITHMS", "tokens are signed with RS256 or ES256, which every issuer can do"},
	{"api.oidc.scope_claim", "EARSHOT_OIDC_SCOPE_CLAIM", "the claim is scope, or scp where a token has no scope"},
}
