package zones_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/zones"
)

func TestZonesAreTheDatabasesAndNotTheMachines(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("ZONEINFO", "/nonexistent")
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{"": "12:00", "UTC": "12:00", "Europe/Berlin": "14:00", "Asia/Kolkata": "17:30", "America/New_York": "08:00"} {
		zone, err := zones.Load(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := at.In(zone).Format("15:04"); got != want {
			t.Errorf("noon UTC in %q is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"Local", "europe/berlin", "Europe", "Europe/", "../etc/passwd", "CEST", "+02:00"} {
		if zone, err := zones.Load(name); err == nil {
			t.Errorf("%q is the zone %v, want an error", name, zone)
		}
	}
}
