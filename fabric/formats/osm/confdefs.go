// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strconv"
	"strings"
)

// ConfDef is the definition of an option in OpenSM.
type ConfDef struct {
	Name string
	Type ConfType
	// Default is the default value, in the form of [ConfOption]. It is "" if the option has no default.
	Default string
	Affects Affects
	// For is the current name of the option if Name is an obsolete name. Otherwise it is "".
	For string
}

// Affects is the set of results of OpenSM that an option changes.
type Affects uint8

// The results that options change. Routes are the forwarding tables. SLs include VLs. Links stands for the speed, width
// and VLs of links.
const (
	AffectsLIDs Affects = 1 << iota
	AffectsRoutes
	AffectsSLs
	AffectsMulticast
	AffectsLinks
)

// ConfType is the type of an option's value.
type ConfType uint8

// The types of values (osm_subnet.c, opts_parse_*).
const (
	ConfString ConfType = iota
	ConfBool
	ConfUint8
	ConfUint16
	ConfUint32
	ConfUint64
	ConfInt32
	ConfMask  // up to 64 hexadecimal digits
	ConfPerSL // an SL and a number; kept as text
	ConfText  // of congestion control; kept as text
)

var confTypeNames = [...]string{
	"string", "TRUE or FALSE", "number from 0 to 255", "number from 0 to 65535", "number from 0 to 4294967295",
	"number of 64 bits", "number", "hexadecimal number of 256 bits", "service level and number", "text",
}

func (t ConfType) String() string { return confTypeNames[t] }

// confKeep is the value that parse returns for a line that OpenSM skips. The option then keeps its previous value.
const confKeep = "\x00"

// parse parses a value as OpenSM does. It returns confKeep if OpenSM skips the line. If the value that OpenSM uses
// differs from the text, the result fault is the reason.
func (t ConfType) parse(s string) (value, fault string) {
	switch t {
	case ConfBool:
		if s == "TRUE" || s == "FALSE" {
			return s, ""
		}
		return "FALSE", fmt.Sprintf("%q is not TRUE or FALSE; OpenSM uses FALSE", shorten([]byte(s)))
	case ConfUint8, ConfUint16, ConfUint32, ConfUint64:
		v, rest, over := cUnsigned(s)
		if s == "" || rest != "" || over || v > confMax[t] {
			return confKeep, ""
		}
		if t == ConfUint64 {
			return fmt.Sprintf("0x%016x", v), ""
		}
		return strconv.FormatUint(v, 10), ""
	case ConfInt32:
		v, rest := cSigned(s)
		value = strconv.FormatInt(int64(int32(v)), 10)
		if s == "" || rest != "" || v != int64(int32(v)) {
			fault = fmt.Sprintf("%q is not a number of 32 bits; OpenSM uses %s", shorten([]byte(s)), value)
		}
		return value, fault
	case ConfMask:
		return parseMask(s)
	}
	if s == "(null)" {
		return "", ""
	}
	return s, ""
}

var confMax = map[ConfType]uint64{
	ConfUint8: 1<<8 - 1, ConfUint16: 1<<16 - 1, ConfUint32: 1<<32 - 1, ConfUint64: 1<<64 - 1,
}

// maskDigits is the number of hexadecimal digits of a mask for the ports of a switch.
const maskDigits = 64

// parseMask parses the first 256 bits of a hexadecimal number.
func parseMask(s string) (value, fault string) {
	digits := s
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		digits = s[2:]
	}
	if digits == "" || strings.ContainsFunc(digits, func(r rune) bool { return r > 0x7f || hexDigit(byte(r)) > 15 }) {
		return confKeep, ""
	}
	if len(digits) > maskDigits {
		digits = digits[:maskDigits]
		fault = fmt.Sprintf("%q has more than 256 bits; OpenSM uses the first 256", shorten([]byte(s)))
	}
	return "0x" + strings.Repeat("0", maskDigits-len(digits)) + strings.ToUpper(digits), fault
}

// FindConfDef returns the definition of an option. ok is false if OpenSM has no option of this name.
func FindConfDef(name string) (ConfDef, bool) {
	d, ok := confDefs[name]
	return d, ok
}

var confDefs = func() map[string]ConfDef {
	defs := map[string]ConfDef{}
	for _, group := range confDefaults {
		for option := range strings.SplitSeq(group.options, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(option), " ")
			defs[name] = ConfDef{Name: name, Type: group.form, Default: value, Affects: group.affects}
		}
	}
	other := defs["port_search_ordering_file"]
	other.Name, other.For = "dimn_ports_file", other.Name
	defs[other.Name] = other
	return defs
}()

// confDefaults lists the options with their default values as "name value, name value" (osm_subnet.c, opt_tbl and
// osm_subn_set_default_opt). The values are those of Debian's build.
var confDefaults = []struct {
	form    ConfType
	affects Affects
	options string
}{
	{ConfBool, 0, `
		m_key_lookup TRUE, ignore_other_sm FALSE, single_thread FALSE, force_heavy_sweep FALSE,
		sweep_on_trap TRUE, force_log_flush FALSE, accum_log_file TRUE, no_partition_enforcement FALSE,
		allow_both_pkeys FALSE, keep_pkey_indexes TRUE, suppress_sl2vl_mad_status_errors FALSE,
		sa_db_dump FALSE, daemon FALSE, sm_inactive FALSE, babbling_port_policy FALSE,
		drop_event_subscriptions FALSE, use_original_extended_sa_rates_only FALSE, fsync_high_avail_files TRUE,
		perfmgr FALSE, perfmgr_redir TRUE, perfmgr_ignore_cas FALSE, perfmgr_rm_nodes TRUE,
		perfmgr_log_errors TRUE, perfmgr_query_cpi TRUE, perfmgr_xmit_wait_log FALSE, congestion_control FALSE,
		enable_quirks FALSE, no_clients_rereg FALSE`},
	{ConfUint8, 0, `
		m_key_protection_level 0, sm_priority 0, subnet_timeout 18, packet_life_time 18, vl_stall_count 7,
		leaf_vl_stall_count 7, head_of_queue_lifetime 18, leaf_head_of_queue_lifetime 16,
		local_phy_errors_threshold 8, overrun_errors_threshold 8, log_flags 3, sm_assigned_guid 0,
		cc_sw_cong_setting_threshold 0, cc_sw_cong_setting_packet_size 0,
		cc_sw_cong_setting_credit_starvation_threshold 0`},
	{ConfUint16, 0, `
		m_key_lease_period 0, console_port 10000, perfmgr_sweep_time_s 180, cc_sw_cong_setting_marking_rate 0,
		cc_ca_cong_setting_port_control 0, cc_ca_cong_setting_control_map 0`},
	{ConfUint32, 0, `
		sweep_interval 10, max_wire_smps 4, max_wire_smps2 4, max_smps_timeout 600000, transaction_timeout 200,
		transaction_retries 3, long_transaction_timeout 500, max_msg_fifo_timeout 10000,
		sminfo_polling_timeout 10000, polling_retry_number 4, log_max_size 0,
		perfmgr_max_outstanding_queries 500, perfmgr_xmit_wait_threshold 65535, cc_max_outstanding_mads 500,
		cc_sw_cong_setting_control_map 0`},
	{ConfUint64, 0, `
		m_key 0x0000000000000000, sm_key 0x0000000000000001, sa_key 0x0000000000000001,
		subnet_prefix 0xfe80000000000000, cc_key 0x0000000000000000`},
	{ConfInt32, 0, `
		qos_high_limit -1, qos_ca_high_limit -1, qos_sw0_high_limit -1, qos_swe_high_limit -1,
		qos_rtr_high_limit -1`},
	{ConfMask, 0, `
		cc_sw_cong_setting_victim_mask 0x0000000000000000000000000000000000000000000000000000000000000000,
		cc_sw_cong_setting_credit_mask 0x0000000000000000000000000000000000000000000000000000000000000000`},
	{ConfString, 0, `
		console off, log_file /var/log/opensm.log, partition_config_file /etc/opensm/partitions.conf,
		part_enforce both, dump_files_dir /var/log/, event_db_dump_file, event_plugin_name,
		event_plugin_options, node_name_map_name, qos_vlarb_high, qos_vlarb_low, qos_ca_vlarb_high,
		qos_ca_vlarb_low, qos_sw0_vlarb_high, qos_sw0_vlarb_low, qos_swe_vlarb_high, qos_swe_vlarb_low,
		qos_rtr_vlarb_high, qos_rtr_vlarb_low, prefix_routes_file /etc/opensm/prefix-routes.conf, log_prefix,
		per_module_logging_file /etc/opensm/per-module-logging.conf`},
	{ConfPerSL, 0, `
		cc_ca_cong_setting_ccti_timer 0 0, cc_ca_cong_setting_ccti_increase 0 0,
		cc_ca_cong_setting_trigger_threshold 0 0, cc_ca_cong_setting_ccti_min 0 0`},
	{ConfText, 0, `cc_sw_cong_setting_credit_starvation_return_delay 0:0, cc_cct`},
	{ConfBool, AffectsLIDs, `reassign_lids FALSE, exit_on_fatal TRUE, honor_guid2lid_file FALSE`},
	{ConfBool, AffectsRoutes, `
		port_profile_switch_nodes FALSE, avoid_throttled_links FALSE, connect_roots FALSE,
		use_ucast_cache FALSE, port_shifting FALSE, guid_routing_order_no_scatter FALSE, do_mesh_analysis FALSE,
		nue_include_switches FALSE, quasi_ftree_indexing FALSE`},
	{ConfUint16, AffectsRoutes, `max_reverse_hops 0`},
	{ConfUint32, AffectsRoutes, `scatter_ports 0`},
	{ConfString, AffectsRoutes, `
		port_prof_ignore_file, hop_weights_file, port_search_ordering_file, routing_engine,
		lid_matrix_dump_file, lfts_file, root_guid_file, cn_guid_file, io_guid_file, ids_guid_file,
		guid_routing_order_file`},
	{ConfBool, AffectsSLs, `use_optimized_slvl FALSE`},
	{ConfUint8, AffectsSLs, `sm_sl 0`},
	{
		ConfUint32, AffectsSLs,
		`qos_max_vls 0, qos_ca_max_vls 0, qos_sw0_max_vls 0, qos_swe_max_vls 0, qos_rtr_max_vls 0`,
	},
	{ConfString, AffectsSLs, `
		qos_policy_file /etc/opensm/qos-policy.conf, qos_sl2vl, qos_ca_sl2vl, qos_sw0_sl2vl, qos_swe_sl2vl,
		qos_rtr_sl2vl`},
	{ConfBool, AffectsMulticast, `
		disable_multicast FALSE, use_mfttop TRUE, ipoib_mcgroup_creation_validation TRUE,
		mcgroup_join_validation TRUE, consolidate_ipv6_snm_req FALSE`},
	{ConfString, AffectsMulticast, `sa_db_file`},
	{ConfUint8, AffectsLinks, `force_link_speed 15, force_link_speed_ext 31, force_link_width 255, fdr10 1`},
	{ConfBool, AffectsLIDs | AffectsRoutes, `lmc_esp0 FALSE`},
	{ConfUint8, AffectsLIDs | AffectsRoutes, `lmc 0`},
	{ConfUint64, AffectsLIDs | AffectsRoutes, `guid 0x0000000000000000`},
	{ConfBool, AffectsRoutes | AffectsSLs, `qos FALSE`},
	{ConfUint8, AffectsRoutes | AffectsSLs, `lash_start_vl 0, nue_max_num_vls 1`},
	{ConfString, AffectsRoutes | AffectsSLs, `torus_config /etc/opensm/torus-2QoS.conf`},
	{ConfUint8, AffectsRoutes | AffectsSLs | AffectsLinks, `max_op_vls 5`},
}
