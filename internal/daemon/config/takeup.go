package config

import "reflect"

// TakeUp returns the settings of c, and those of next that may change while the bot runs: the
// fields with the tag live. restart are the keys of the others that differ: they need a
// restart.
func (c Config) TakeUp(next Config) (now Config, restart []string) {
	now = c
	takeUp("", reflect.ValueOf(&now).Elem(), reflect.ValueOf(next), &restart)
	if own := now.Answer.AmbientModel; own != "" && !c.ReadsAlong() && now.ReadsAlong() {
		restart = append(restart, "answer.ambient_model") // it was not made
	}
	if !reflect.DeepEqual(c.Keys, next.Keys) || !reflect.DeepEqual(c.Tools.Named, next.Tools.Named) {
		restart = append(restart, "a secret or the URL of an API")
	}
	return now, restart
}

func takeUp(path string, now, next reflect.Value, restart *[]string) {
	for i := range now.NumField() {
		f := now.Type().Field(i)
		key := f.Tag.Get("yaml")
		switch at := joinPath(path, key); {
		case key == "-":
		case f.Tag.Get("live") != "":
			now.Field(i).Set(next.Field(i))
		case f.Type.Kind() == reflect.Struct:
			takeUp(at, now.Field(i), next.Field(i), restart)
		case !reflect.DeepEqual(now.Field(i).Interface(), next.Field(i).Interface()):
			*restart = append(*restart, at)
		}
	}
}

// ReadsAlong reports whether the bot reads along in any channel.
func (c Config) ReadsAlong() bool {
	along := c.Answer.Ambient != AmbientOff
	for _, r := range c.Channels {
		along = along || r.Answer.Ambient != "" && r.Answer.Ambient != AmbientOff
	}
	return along
}
