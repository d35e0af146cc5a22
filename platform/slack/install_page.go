package slack

import (
	"html/template"
	"net/http"
	"slices"
)

// installPage is what somebody sees who has installed the app, or was refused.
var installPage = template.Must(template.New("install").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title></head>
<body>
<h1>{{.Title}}</h1>
{{range .Lines}}<p>{{.}}</p>
{{end}}</body>
</html>
`))

// A pageText is what an installPage says.
type pageText struct {
	Title string
	Lines []string
}

// showPage writes a page that no other site may frame, and that nothing is loaded for.
func showPage(w http.ResponseWriter, status int, text pageText) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = installPage.Execute(w, text) // the caller is gone
}

// showInstalled says what was installed, what it keeps, and how that ends.
func (x *Installer) showInstalled(w http.ResponseWriter, i Installation) {
	name := i.Name
	if name == "" {
		name = string(i.Workspace)
	}
	lines := []string{
		"The app is installed in the workspace " + name + ". Invite it to a channel, and mention it there to ask.",
		"It records what is said in the channels that it is invited to and in direct messages with it, from then on, and reads their history where a question needs it. Other channels it does not see.",
		"Who wants to be forgotten asks whoever runs this bot: all that a person said is then erased. Remove the bot from a channel and it hears nothing there any more. Remove the app from the workspace and all that is kept of the workspace is erased.",
	}
	for _, need := range ScopeNeeds() {
		if !slices.Contains(i.Scopes, need.Scope) {
			lines = append(lines, "It was not given the scope "+need.Scope+": "+need.Costs+".")
		}
	}
	showPage(w, http.StatusOK, pageText{"Installed", lines})
}

// showRefused says why nothing was installed, and what to do.
func (x *Installer) showRefused(w http.ResponseWriter, r *installRefusal) {
	showPage(w, r.status, pageText{"Not installed", []string{r.what, r.remedy}})
}
