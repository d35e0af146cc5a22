package simulate

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

func (s *Slack) authTest(r *request) (object, error) {
	a, t := s.o.App, s.o.Team
	o := object{"url": "https://" + t.Domain + ".slack.com/", "team": t.Name, "team_id": t.ID, "is_enterprise_install": false}
	if r.token == a.AppToken {
		o["app_id"], o["app_name"] = a.ID, a.Name
		return o, nil
	}
	o["user"], o["user_id"], o["bot_id"] = a.Name, a.UserID, a.BotID
	return o, nil
}

func (s *Slack) teamInfo(r *request) (object, error) {
	t := s.o.Team
	if id := r.args["team"]; id != "" && id != t.ID {
		i := slices.IndexFunc(s.users, func(u *User) bool { return u.Team == id && u.TeamName != "" })
		if i < 0 {
			return nil, fail("team_not_found")
		}
		t.ID, t.Name, t.Domain = id, s.users[i].TeamName, strings.ToLower(id)
	}
	return object{"team": object{
		"id": t.ID, "name": t.Name, "domain": t.Domain, "email_domain": "example.com",
		"icon": object{"image_34": "https://avatars.example.com/34.png", "image_default": true},
	}}, nil
}

func (s *Slack) botsInfo(r *request) (object, error) {
	b := s.bot(r.args["bot"])
	if b == nil {
		return nil, fail("bot_not_found")
	}
	return object{"bot": s.botJSON(b)}, nil
}

// usersInfo answers for a bot's user too, and for several at once.
func (s *Slack) usersInfo(r *request) (object, error) {
	if ids := r.args["users"]; ids != "" {
		list := []any{}
		for id := range strings.SplitSeq(ids, ",") {
			u := s.user(id)
			if u == nil {
				return nil, fail("user_not_found")
			}
			list = append(list, s.userJSON(u))
		}
		return object{"users": list}, nil
	}
	u := s.user(r.args["user"])
	if u == nil {
		return nil, fail("user_not_found")
	}
	return object{"user": s.userJSON(u)}, nil
}

func (s *Slack) usersList(r *request) (object, error) {
	list := []any{}
	for _, u := range s.users {
		list = append(list, s.userJSON(u))
	}
	page, next, err := pageOf(r, list, 1000)
	if err != nil {
		return nil, err
	}
	return object{"members": page, "cache_ts": s.o.Now().Unix(), "response_metadata": object{"next_cursor": next}}, nil
}

func (s *Slack) usergroupsList(r *request) (object, error) {
	list := []any{}
	for _, g := range s.groups {
		o := object{
			"id": g.ID, "team_id": s.o.Team.ID, "is_usergroup": true, "name": g.Name, "handle": g.Handle, "description": "",
			"is_external": false, "date_create": 1700000000, "date_update": 1700000000, "date_delete": 0, "auto_type": nil,
			"created_by": "USLACKBOT", "updated_by": "USLACKBOT", "deleted_by": nil,
			"prefs": object{"channels": []any{}, "groups": []any{}},
		}
		if r.bool("include_count") {
			o["user_count"] = len(g.Users)
		}
		if r.bool("include_users") {
			o["users"] = fake.List(g.Users)
		}
		list = append(list, o)
	}
	return object{"usergroups": list}, nil
}
