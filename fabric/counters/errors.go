// SPDX-License-Identifier: Apache-2.0

package counters

// Beyond are the errors of a port that are more than a threshold, which is what ibqueryerrors prints of it:
// with all thresholds 0, as in the file that comes with infiniband-diags, every error that ever happened.
func (p *Port) Beyond(thresholds *Values) Set {
	var s Set
	for c := range (p.Has & Errors).All() {
		if p.Values[c] > thresholds[c] {
			s |= Of(c)
		}
	}
	return s
}
