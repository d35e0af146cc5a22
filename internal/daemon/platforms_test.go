package daemon

import (
	"maps"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// A platform that can be set has its row here, and is known where no adapter is.
func TestEachPlatformHasItsRows(t *testing.T) {
	t.Parallel()
	kinds := platformKinds()
	if rows, named := slices.Sorted(maps.Keys(kinds)), slices.Sorted(slices.Values(config.Platforms)); !slices.Equal(rows, named) {
		t.Errorf("rows for %v, settings for %v", rows, named)
	}
	for name, k := range kinds {
		if !earshot.Platform(name).Known() {
			t.Errorf("%s has no earshot.PlatformInfo", name)
		}
		if k.open == nil || k.keys == nil || k.api == nil || k.placeholder == nil || k.check == nil && name != config.PlatformLocal {
			t.Errorf("the row of %s is not whole", name)
		}
	}
}
