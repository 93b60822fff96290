# What the Hawaii itinerary plans for 13 June.
import re

files = await tools.search_files(query="vacation plans")
hawaii = next(file for file in files if "Destination: Hawaii" in file["content"])
plans = dict(re.findall(r"- (June \d+): (.+)", hawaii["content"]))
return f"On June 13: {plans['June 13']}"
