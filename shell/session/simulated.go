// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
)

// simulatedWords takes words from what a sim source names. adaptive=yes: its switches then are NVIDIA's, hold groups of
// all ports on shortest up/down paths, and tell of them. traffic=N%: all hosts send to all others, so much that the
// busiest link is used by that part of its rate.
func simulatedWords(arg string) (rest string, adapts bool, used float64, err error) {
	var kept []string
	for word := range strings.SplitSeq(arg, " ") {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "adaptive":
			adapts = value == "yes"
			if !adapts && value != "no" {
				return "", false, 0, fmt.Errorf("adaptive=%s: expected yes or no", value)
			}
		case "traffic":
			number, percent := strings.CutSuffix(value, "%")
			used, err = strconv.ParseFloat(number, 64)
			if err != nil || !percent || !(used >= 0 && used <= 100) {
				return "", false, 0, fmt.Errorf("traffic=%s: expected 0%% to 100%%", value)
			}
			used /= 100
		default:
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " "), adapts, used, nil
}

// trafficOf is how many bytes leave by each port a second where all send to all, by the tables, and the busiest link is
// used by some part of its rate.
func trafficOf(ctx context.Context, t *fabric.Tables, used float64) ([]float64, error) {
	l, err := linkload.AllToAll(ctx, t, linkload.Options{})
	if err != nil {
		return nil, err
	}
	path := math.Inf(1) // bytes a second of each path
	for i, paths := range l.Paths {
		if rate := t.Fabric.Ports[i].DataRate(); paths > 0 && rate > 0 {
			path = min(path, used*rate/float64(paths))
		}
	}
	bytes := make([]float64, len(l.Paths))
	if !math.IsInf(path, 1) {
		for i, paths := range l.Paths {
			bytes[i] = path * float64(paths)
		}
	}
	return bytes, nil
}
