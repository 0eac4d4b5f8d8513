// SPDX-License-Identifier: Apache-2.0

package simulated

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/shell/session/settings"
)

// TestOptionErrors checks that each wrong option of a source is refused, with the option and the reason.
func TestOptionErrors(t *testing.T) {
	for option, want := range map[string]string{
		"flow=node-0001:node-0002":       "expected 3 parts",
		"flow=node-0001:node-9999:10%":   "node-9999",
		"flow=node-0001:node-0002:10":    "percentage",
		"flow=node-0001:node-0002:-1%":   "percentage",
		"flow=node-0001:node-0002:NaN%":  "percentage",
		"drain=node-0001:x%":             "percentage",
		"drain=node-0001":                "expected 2 parts",
		"capacity=leaf-01:10%":           "which port",
		"capacity=leaf-01/99:10%":        "99",
		"width=leaf-01/1:3x":             "expected 1x",
		"width=leaf-01/1:4":              "expected 1x",
		"errors=leaf-01/1:-1":            "number per second",
		"errors=leaf-01/1:Inf":           "number per second",
		"flap=leaf-01/3:0:1":             "seconds",
		"flap=leaf-01/3:10:ten":          "seconds",
		"counters=16":                    "expected 32 or 64",
		"traffic=101%":                   "expected 0% to 100%",
		"flow=node-[0001-0002:node:100%": "node-",
	} {
		_, err := Open(t.Context(), "fattree:2,4 "+option, formats.Options{}, &settings.Settings{})
		name, _, _ := strings.Cut(option, "=")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name+"=") {
			t.Errorf("%s: error %v, want one about %q with the option", option, err, want)
		}
	}
}
