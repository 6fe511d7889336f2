"""Questions asked of a site: aliases, overlap, profit.  Never makes an edit."""
