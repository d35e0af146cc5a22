package config

// InspectListen is where the inspector listens if no address is given.
const InspectListen = "127.0.0.1:7300"

// An Inspect sets how the inspector is served: the web page on which people see what
// the model saw.
type Inspect struct {
	Listen string   `yaml:"listen" env:"EARSHOT_INSPECT" doc:"an address, such as 127.0.0.1:7300. A token or an API key is asked for on every address; another machine should reach it through a proxy with TLS. Empty: it is not served."`
	URL    string   `yaml:"url" env:"EARSHOT_INSPECT_URL" doc:"the URL under which people reach it, such as https://inspect.example.com behind a proxy; links to its pages begin with it. Empty: that of the address."`
	Hosts  []string `yaml:"hosts" env:"EARSHOT_INSPECT_HOSTS" doc:"further names, without a port, by which people call it. Addresses, localhost and the host of inspect.url always work; other names are refused, because a page in a browser could make one up."`
}

// checkInspect checks the settings of the inspector.
func (c Config) checkInspect(bad problemReport) {
	checkListen("inspect.listen", c.Inspect.Listen, InspectListen, bad)
	if c.Inspect.URL != "" && !goodURL(c.Inspect.URL) {
		bad("inspect.url", "is not of the form https://host")
	}
	checkHosts("inspect.hosts", c.Inspect.Hosts, bad)
	if t := c.Keys.InspectToken; !t.Empty() && len(t.Reveal()) < 16 {
		bad("EARSHOT_INSPECT_TOKEN", "is shorter than 16 characters; leave it out and a token is generated at each start")
	}
}
