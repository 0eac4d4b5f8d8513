// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
)

// Of are the settings that a saved routing was made with, but with the LMC that
// was chosen here; these settings where it does not say or they are of no use now.
func (s *Settings) Of(saved *snapshot.Snapshot) (Settings, []string) {
	r := saved.Routing
	if r == nil || r.Engine == "" || slices.Contains(s.Chain, r.Engine) && len(r.Options) == 0 {
		return *s, nil
	}
	var given []Setting
	for _, o := range r.Options {
		if o.Name != "lmc" && o.Name != "guid2lid" && o.Name != "reassign_lids" {
			given = append(given, Setting(o))
		}
	}
	for _, g := range s.Given {
		if g.Name == "lmc" {
			given = append(given, g)
		}
	}
	set, err := Parse([]string{r.Engine}, given)
	if err != nil {
		return *s, []string{fmt.Sprintf("its engine %s and options are of no use here (%v); what is to be routed anew is routed by %s", fabric.Escape(r.Engine), err, s.String())}
	}
	return set, nil
}
