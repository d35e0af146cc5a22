package discordmsg

import (
	"path"
	"strings"
)

// mediaType returns the media type of a file by its name, or "". Exports do not tell
// it, and the operating system's table would differ from machine to machine.
func mediaType(name string) string { return mediaTypes[strings.ToLower(path.Ext(name))] }

var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml", ".heic": "image/heic",
	".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm", ".mkv": "video/x-matroska",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/x-wav", ".m4a": "audio/mp4", ".flac": "audio/flac",
	".pdf": "application/pdf", ".zip": "application/zip", ".json": "application/json", ".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv",
	".yaml": "application/yaml", ".yml": "application/yaml", ".html": "text/html", ".xml": "application/xml",
}
