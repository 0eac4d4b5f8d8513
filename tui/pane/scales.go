// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"example.org/ibconsole/routing/checks/congestion"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/draw"
)

// The scales that several panes use.
var (
	// LoadScale is for the paths over a link, divided by the limit of the link.
	LoadScale = draw.Scale{From: [5]float64{0, 1e-9, linkload.HalfLimit, linkload.OverLimit,
		linkload.FarOverLimit},
		Words: [5]string{"none", "to 0.5x", "to 1.1x", "above", "1.5x"}, Warn: 3, Bad: 4}
	// UseScale is for the share of the data rate of a link that is in use. A full link is no fault.
	UseScale = draw.Scale{From: [5]float64{0, 0.005, 0.3, 0.6, congestion.Full},
		Words: [5]string{"none", "to 30 %", "to 60 %", "above", "full"}, Warn: 4, Bad: 5}
)
