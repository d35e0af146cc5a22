package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// computed are the fields of an exported message that a Slack works out anew.
var computed = []string{
	"type", "ts", "thread_ts", "parent_user_id", "reply_count", "reply_users_count", "latest_reply", "reply_users", "replies",
	"is_locked", "subscribed", "last_read", "unread_count", "user_profile", "root",
}

// load fills the workspace with an export in Slack's layout. The app is
// nobody's news: no event tells of what was said before.
func (s *Slack) load(export fs.FS) error {
	if err := s.loadUsers(export); err != nil {
		return err
	}
	found := 0
	for _, list := range []struct {
		file string
		kind Kind
	}{{"channels.json", Public}, {"groups.json", Private}, {"dms.json", DM}, {"mpims.json", GroupDM}} {
		n, err := s.loadChannels(export, list.file, list.kind)
		if err != nil {
			return err
		}
		found += n
	}
	if found == 0 {
		return errors.New("the export has no channels: it needs channels.json, and a folder with a file a day for each")
	}
	return nil
}

// decode reads a JSON file of the export. A file that is not there is empty.
func decode(export fs.FS, name string, v any) error {
	raw, err := fs.ReadFile(export, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

func (s *Slack) loadUsers(export fs.FS) error {
	var users []object
	if err := decode(export, "users.json", &users); err != nil {
		return err
	}
	for _, o := range users {
		if team := str(o["team_id"]); team != "" && s.o.Team.ID == defaultTeam {
			s.o.Team.ID = team
		}
		profile, _ := o["profile"].(object)
		u := &User{
			ID: str(o["id"]), Name: str(o["name"]), RealName: str(profile["real_name"]), DisplayName: str(profile["display_name"]),
			TZ: str(o["tz"]), bot: str(profile["bot_id"]), fields: o,
		}
		u.Deleted, _ = o["deleted"].(bool)
		if u.bot != "" && s.bot(u.bot) == nil {
			s.bots = append(s.bots, &Bot{ID: u.bot, AppID: str(profile["api_app_id"]), UserID: u.ID, Name: u.Name})
		}
		if i := slices.IndexFunc(s.users, func(o *User) bool { return o.ID == u.ID }); i >= 0 {
			s.users[i] = u
		} else {
			s.users = append(s.users, u)
		}
	}
	return nil
}

func (s *Slack) loadChannels(export fs.FS, file string, kind Kind) (int, error) {
	var list []struct {
		ID, Name, Creator string
		Created           int64
		Members           []string
		Archived          bool `json:"is_archived"`
		Topic, Purpose    struct{ Value string }
	}
	if err := decode(export, file, &list); err != nil {
		return 0, err
	}
	for _, o := range list {
		c := s.addChannel(Channel{
			ID: o.ID, Name: o.Name, Kind: kind, Creator: o.Creator, Created: o.Created, Members: o.Members, Archived: o.Archived,
			Topic: o.Topic.Value, Purpose: o.Purpose.Value,
		})
		folder := o.Name
		if kind == DM {
			folder = o.ID
		}
		days, err := fs.Glob(export, path.Join(folder, "*.json"))
		if err != nil {
			return 0, fmt.Errorf("read the days of %s: %w", folder, err)
		}
		for _, day := range days {
			var messages []object
			if err := decode(export, day, &messages); err != nil {
				return 0, err
			}
			for _, m := range messages {
				s.loadMessage(c, m)
			}
		}
	}
	return len(list), nil
}

// loadMessage puts an exported message into its channel, with the bot and the
// files that it names.
func (s *Slack) loadMessage(c *channel, o object) {
	m := &message{ts: str(o["ts"]), body: o}
	if _, ok := micros(m.ts); !ok || c.message(m.ts) != nil {
		return
	}
	if root := str(o["thread_ts"]); root != m.ts {
		m.root = root
	}
	for _, k := range computed {
		delete(o, k)
	}
	if id := str(o["bot_id"]); id != "" && s.bot(id) == nil {
		profile, _ := o["bot_profile"].(object)
		s.bots = append(s.bots, &Bot{ID: id, AppID: str(profile["app_id"]), Name: str(profile["name"]) + str(o["username"])})
	}
	files, _ := o["files"].([]any)
	for i, v := range files {
		if f, _ := v.(object); str(f["id"]) != "" {
			files[i] = s.loadFile(f)
		}
	}
	c.add(m)
}

// loadFile takes a file from a message. An export has no bytes: a text file
// gets its preview, if it has one, and others are not to be had.
func (s *Slack) loadFile(o object) object {
	f := s.file(str(o["id"]))
	if f == nil {
		f = &File{ID: str(o["id"]), Name: str(o["name"]), Title: str(o["title"]), MIMEType: str(o["mimetype"]), User: str(o["user"])}
		f.Data = []byte(str(o["preview"]))
		if len(f.Data) == 0 {
			f.Served = ServeNothing
		}
		s.files = append(s.files, f)
	}
	own := s.fileJSON(f)
	for _, k := range []string{"url_private", "url_private_download"} {
		if strings.HasPrefix(str(o[k]), "http") {
			o[k] = own[k]
		}
	}
	return o
}
